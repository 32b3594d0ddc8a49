# SPDX-License-Identifier: Apache-2.0
# style.gp: what all figures of a report share. One colour, marker and name per implementation, here and nowhere else: colours
# that differ in lightness too (readable in greyscale and with colour blindness), markers that differ in shape. An implementation
# with options (NAME:option=value) has the colour of NAME, an open marker and a dashed line.
# Needs: kind ("svg" or "png"), picture, table (tab-separated, with a head). Gives: colour(name), mark(name), dash(name).
names   = "cpu_pav cpu_hulls cpu_exact scipy sklearn python torchisotonic torchsort segments segments_paper"
colours = "#0b3c6f #e07b00 #7fb8e6 #8a1c4a #5f8f3e #9a9a9a #b8a000 #555555 #00806a #c0507a"
filled  = "7 5 9 11 13 15 7 5 9 11"
open    = "6 4 8 10 12 14 6 4 8 10"
base(name)    = strstrt(name, ":") ? name[1:strstrt(name, ":") - 1] : name
place(name)   = sum [i = 1:words(names)] (word(names, i) eq base(name) ? i : 0)
variant(name) = strstrt(name, ":") > 0
# an implementation that has no place yet is grey, with a star
colour(name) = place(name) ? rgbof(word(colours, place(name))) : 0x999999
mark(name)   = place(name) ? int(word(variant(name) ? open : filled, place(name))) : 3
dash(name)   = variant(name) ? 2 : 1
rgbof(hex)   = int("0x".hex[2:7])
# 1e7 as 10^7
set format x "10^{%L}"
# distinct values of a column in the order in which they come first; blanks inside become '~'. With another column: of rows that have a number there
distinct = "awk -F'\\t' -v want=%s -v with=%s 'NR == 1 { for (i = 1; i <= NF; ++i) { if ($i == want) c = i; if ($i == with) w = i } next } \
            (!w || $w != \"NaN\") && !seen[$c]++ { gsub(/ /, \"~\", $c); printf \"%%s \", $c }' '%s'"
list_with(column, other) = system(sprintf(distinct, column, other, table))
list(column) = list_with(column, "")
plain(text)  = system("printf %s '".text."' | tr '~' ' '")
begin(width, height) = kind eq "png" ? sprintf("set terminal pngcairo size %d,%d font 'sans,12' background rgb 'white'", 1.4 * width, 1.4 * height) \
                                     : sprintf("set terminal svg size %d,%d dynamic font 'sans-serif,13' background rgb 'white'", width, height)
set datafile separator "\t"
set datafile missing "NaN"
set border 3
set tics nomirror
set grid xtics ytics lt 1 lw 0.5 lc rgb "#dddddd"
set encoding utf8
