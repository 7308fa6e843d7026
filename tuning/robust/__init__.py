"""One setting for an unknown world: searched over several scenarios at once, chosen and measured on fresh worlds."""
