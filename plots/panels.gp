# SPDX-License-Identifier: Apache-2.0
# panels.gp: lines of implementations over the length, a panel per set of problems (family, type, weights); logarithmic
# axes, the same in all panels. Needs: style.gp, column and label of y; low and high (columns of an interval) or 0.
sets   = list("set")
impls  = list_with("implementation", y)
caches = list("cache")
panels = words(sets)
array set_text[panels]
array impl_text[words(impls)]
do for [p = 1:panels] { set_text[p] = plain(word(sets, p)) }
do for [k = 1:words(impls)] { impl_text[k] = plain(word(impls, k)) }
across = panels > 1 ? 2 : 1
down   = (panels + across - 1) / across
height = 90 + 250 * down
eval begin(860, height)
set output picture
set logscale xy
stats table using (column("elements")) name "N" nooutput
set xrange [N_min / 1.6 : N_max * 1.6]
stats table using (column(y)) name "Y" nooutput
set yrange [Y_min / 1.6 : Y_max * 1.6]
set format y "%g"
top = 1 - 62.0 / height
set multiplot layout down,across margins 0.1,0.985,52.0 / height,top spacing 0.085,72.0 / height
set label 1 label at screen 0.015,0.5 center rotate by 90
set label 2 "elements" at screen 0.53,16.0 / height center
# the key, once over all panels
entries = words(impls)
do for [k = 1:entries] {
    name = word(impls, k)
    x = 0.1 + 0.89 * ((k - 1) % 4) / 4.0
    yy = 1 - (16.0 + 20.0 * ((k - 1) / 4)) / height
    set arrow 10 + k from screen x,yy to screen x + 0.035,yy nohead lw 1.8 dt dash(name) lc rgb colour(name)
    set label 10 + k impl_text[k] noenhanced at screen x + 0.045,yy left
    set label 50 + k "" at screen x + 0.0175,yy point pt mark(name) ps 0.9 lc rgb colour(name)
}
unset key
do for [p = 1:panels] {
    set title set_text[p] noenhanced offset 0,-0.7
    wanted(s, i, c, p, k, n) = s eq set_text[p] && i eq impl_text[k] && c eq word(caches, n)
    plot for [n = 1:words(caches)] for [k = 1:entries] table using (column("elements")) : \
             (intervals && wanted(strcol("set"), strcol("implementation"), strcol("cache"), p, k, n) ? column("low") : NaN) : (0) : \
             (intervals ? column("high") - column("low") : NaN) with vectors nohead lw 4 lc rgb colour(word(impls, k)), \
         for [n = 1:words(caches)] for [k = 1:entries] table using (column("elements")) : \
             (wanted(strcol("set"), strcol("implementation"), strcol("cache"), p, k, n) ? column(y) : NaN) \
             with linespoints lw 1.6 dt dash(word(impls, k)) pt mark(word(impls, k)) ps 0.9 lc rgb colour(word(impls, k))
    unset label
    unset arrow
}
unset multiplot
