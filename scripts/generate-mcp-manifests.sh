#!/usr/bin/env bash
# Writes docs/generated/mcp-manifest-*.json from the tools, with everything else that is derived from them.
set -euo pipefail
cd "$(dirname "$0")/.."
npm run --silent gen
