#!/usr/bin/env bash
# Writes the files that the server's pages load into a directory. It minifies JavaScript and CSS, so
# that their sources can have comments and readable names, and joins the modules into main.js and the
# style sheets, in the order of their names and after the colors, into style.css.
#
#   scripts/minify.sh server/internal/web/site server/internal/web/assets
set -euo pipefail
from=$1 to=$2

minify() { npx --yes esbuild@0.28.2 --minify --charset=utf8 --log-level=warning "$@"; }

rm -rf "$to"
mkdir -p "$to"
minify --bundle --format=esm --outfile="$to/main.js" "$from/main.js"
{ go run ./tools/page colors.css; cat "$from"/*.css; } | minify --loader=css >"$to/style.css"
find "$from" -type f -not -name '*.js' -not -name '*.css' -exec cp {} "$to" \;
