#!/bin/sh
exec node /opt/scripted-model/start.mjs "${0##*/}" "$@"
