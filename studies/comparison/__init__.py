"""The fair fight: policies at their defaults and tuned by equal searches, all measured in the same fresh worlds."""
