#!/bin/sh
exec node /opt/scripted-model/in-front-of.mjs "${0##*/}" "$@"
