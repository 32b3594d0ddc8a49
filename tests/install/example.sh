#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# example.sh PROGRAM: runs the example and compares what it prints with the fit done by hand.
printed=$("$1") || exit $? # 77: no GPU
echo "$printed"
[ "$printed" = "1 2.5 2.5 3.75 3.75 5 " ]
