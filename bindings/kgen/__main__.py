"""`python -m kgen ...` is the program kgen."""
import os
import sys

from kgen.tool import executable

os.execv(executable(), ["kgen", *sys.argv[1:]])
