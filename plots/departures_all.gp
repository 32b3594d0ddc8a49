# SPDX-License-Identifier: Apache-2.0
# departures_all.gp: share of flights that arrive 15 minutes late over departure delay, all flights: the share at each
# minute as a circle, the fit as a line. Needs: shares (minute,share,flights), curve (x,fit,weight) and output, as -e "name='...'".
set terminal svg size 860,480 dynamic name "departures_all" font "sans-serif,14" background rgb "white"
set output output
set datafile separator ","
set key left top Left reverse samplen 3 spacing 1.3
set xlabel "departure delay (minutes)"
set ylabel "probability of arriving 15 minutes late or more"
set xrange [-30:90]
set yrange [-0.02:1.02]
set xtics 15
set ytics 0.2
set grid xtics ytics lt 1 lw 0.5 lc rgb "#dddddd"
set border 3
set tics nomirror
dot(flights) = 0.3 + 0.18 * log10(flights)
plot shares using 1:2:(dot($3)) every ::1 with points pt 6 lw 1.3 ps variable lc rgb "#c55a11" title "share of the flights of that minute (larger circle: more flights)", \
     curve using 1:2 every ::1 with lines lt 1 lw 1.8 lc rgb "#0b3c6f" title "isotonic fit, weighted by flights"
