# SPDX-License-Identifier: Apache-2.0
# accuracy_speed.gp: largest error in units of the last place (over all problems of the family and type) against time per
# element, a point per set of
# problems at its greatest length. Needs: here, kind, table, picture.
load here."/style.gp"
impls = list("implementation")
array impl_text[words(impls)]
do for [k = 1:words(impls)] { impl_text[k] = plain(word(impls, k)) }
eval begin(860, 460)
set output picture
set logscale xy
set format x "%g"
set xlabel "time per element (ns)"
set ylabel "largest error (units of the last place)"
stats table using (column("ns_per_element")) name "X" nooutput
stats table using (column("ulps")) name "Y" nooutput
set xrange [X_min / 1.5 : X_max * 1.5]
least = 0.25 # no logarithm of 0: errors from 0 to here are drawn here, and the axis says so
set yrange [0.18 : (Y_max > 2 ? Y_max * 3 : 4)]
set format y (Y_max > 1000 ? "10^{%L}" : "%g")
set ytics add ("≤ 0.25" least, "0.5" 0.5)
set mytics 1
set arrow 1 from graph 0, first 0.5 to graph 1, first 0.5 nohead dt 3 lw 1.2 lc rgb "#555555"
set label 1 "rounded once: at most 0.5" at graph 0.99, first 0.36 right tc rgb "#555555" font ",11"
set key outside top center horizontal Left reverse samplen 1 width 1
plot for [k = 1:words(impls)] table using (strcol("implementation") eq impl_text[k] ? column("ns_per_element") : NaN) : (column("ulps") > least ? column("ulps") : least) \
     with points pt mark(word(impls, k)) ps 1.2 lc rgb colour(word(impls, k)) title impl_text[k] noenhanced
