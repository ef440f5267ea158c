// The settings and the providers, fetched on their pages only.

import { startProbe } from "./probe.js";
import { startSettings } from "./settings.js";

startSettings();
startProbe();
