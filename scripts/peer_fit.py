# SPDX-License-Identifier: Apache-2.0
"""A fit by SciPy, for measuring its accuracy: peer_fit.py Y.npy Z.npy, in the interpreter that scripts/peers set up."""
import sys

import numpy
import scipy.optimize

numpy.save(sys.argv[2], scipy.optimize.isotonic_regression(numpy.load(sys.argv[1])).x)
