#!/usr/bin/env bash
# Fails when the committed manifests are not what the tools say.
set -euo pipefail
cd "$(dirname "$0")/.."
npm run --silent gen
if [ -n "$(git status --porcelain -- docs/generated)" ]; then
  echo "The manifests are out of date. Run scripts/generate-mcp-manifests.sh and commit docs/generated." >&2
  git status --porcelain -- docs/generated >&2
  exit 1
fi
echo "The manifests are up to date."
