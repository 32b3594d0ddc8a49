# SPDX-License-Identifier: Apache-2.0
# stages.gp: stages of each fit as parts of a bar, in nanoseconds per element. Needs: here, kind, table, picture. Columns
# of the table from the fourth on are stages.
load here."/style.gp"
stats table using 3 name "R" nooutput
rows = int(R_records)
# room for the longest label on the left, and a key of four entries a line
longest = int(system("awk -F'\t' 'NR > 1 { n = length($1 $2 $3) + 6; if (n > most) most = n } END { print most }' '".table."'"))
height  = 130 + 26 * rows
width   = 520 + 6 * longest
eval begin(width, height)
set output picture
head   = system("head -n 1 '".table."' | tr '\\t' ' '")
stages = words(head) - 3
shades = "#0b3c6f #7fb8e6 #d9d9d9 #e07b00 #555555 #b8a000 #8a1c4a #5f8f3e"
unset logscale
set format x "%g"
left = (30 + 6.0 * longest) / width
set lmargin screen left
set rmargin screen 0.97
set tmargin screen 1 - 64.0 / height
set bmargin screen 54.0 / height
set xlabel "time (ns per element)"
set yrange [rows - 0.4 : -0.6]
set ytics nomirror scale 0 noenhanced font ",11"
set xrange [0:*]
set key at screen left,1 - 14.0 / height left top horizontal maxcols 4 Left reverse samplen 1.2 width 2
set style fill solid border rgb "#333333"
total(a, b) = sum [c = a:b] column(c)
plot for [s = stages:1:-1] table using (0.5 * total(4, 3 + s)) : 0 : (0.5 * total(4, 3 + s)) : (0.34) : \
         ytic(sprintf("%s, n=%.3g, %s", strcol(1), column(3), strcol(2))) \
         every ::1 with boxxyerror lc rgb word(shades, s) notitle, \
     for [s = 1:stages] keyentry with boxes fs solid border rgb "#333333" lc rgb word(shades, s) title word(head, 3 + s)
