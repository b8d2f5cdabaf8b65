// Charts that answer to the pointer, drawn by uPlot over what the server drew.
"use strict";
