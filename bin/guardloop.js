#!/usr/bin/env node
import "../dist/bundle/guardloop.js";
