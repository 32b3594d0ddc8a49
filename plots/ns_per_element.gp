# SPDX-License-Identifier: Apache-2.0
# ns_per_element.gp: nanoseconds per element over the number of elements, a panel per set of problems; bars are exact 95 %
# intervals of the median. Needs: here (folder of the scripts), kind, table, picture.
load here."/style.gp"
y = "ns_per_element"
label = "time per element (ns)"
intervals = 1
load here."/panels.gp"
