import sys
sys.exit("said")
