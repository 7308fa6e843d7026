"""What the paper claims, what came out when it was run again, and the rules that judge one by the other."""
