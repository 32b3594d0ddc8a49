# SPDX-License-Identifier: Apache-2.0
# times_copy.gp: time of the fit over the time of copying y to z, over the number of elements. Needs: here, kind, table, picture.
load here."/style.gp"
y = "times_copy"
label = "time of the fit / time of a copy (no unit)"
intervals = 0
load here."/panels.gp"
