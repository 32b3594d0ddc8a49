# SPDX-License-Identifier: Apache-2.0
# departures_by_carrier.gp: one small plot per carrier: its fit over that of all flights. Needs: curves (carrier,x,fit,weight),
# curve (x,fit,weight), carriers (names separated by spaces), flights (their numbers of flights, likewise), output.
set terminal svg size 900,900 dynamic name "departures_by_carrier" font "sans-serif,12" background rgb "white"
set output output
set datafile separator ","
rows = (words(carriers) + 3) / 4
set multiplot layout rows,4 margins 0.075,0.985,0.075,0.93 spacing 0.018,0.045
set xrange [-30:98]
set yrange [-0.03:1.03]
set xtics 0,30,90
set ytics 0.5
set grid xtics ytics lt 1 lw 0.5 lc rgb "#dddddd"
set border 3
set tics nomirror
set label 1 "departure delay (minutes)" at screen 0.53,0.02 center font ",14"
set label 2 "probability of arriving 15 minutes late or more" at screen 0.016,0.5 center rotate by 90 font ",14"
# The key, drawn by hand: gnuplot keeps its own inside one of the small plots.
set arrow 1 from screen 0.33,0.972 to screen 0.38,0.972 nohead lt 1 lw 2.2 lc rgb "#0b3c6f"
set label 3 "this carrier" at screen 0.39,0.972 left font ",14"
set arrow 2 from screen 0.55,0.972 to screen 0.60,0.972 nohead dt 2 lw 1.5 lc rgb "#888888"
set label 4 "all flights" at screen 0.61,0.972 left font ",14"
unset key
do for [k = 1:words(carriers)] {
    name = word(carriers, k)
    set title name.": ".word(flights, k)." flights" offset 0,-0.8 font ",13"
    set format y ((k - 1) % 4 == 0 ? "%g" : "")
    set format x (k > words(carriers) - 4 ? "%g" : "")
    plot curve using 1:2 every ::1 with lines dt 2 lw 1.5 lc rgb "#888888", \
         curves using (strcol(1) eq name ? $2 : 1/0):3 every ::1 with lines lt 1 lw 2.2 lc rgb "#0b3c6f"
    unset label
    unset arrow
}
unset multiplot
