// The tools page, fetched there only.

import { startToolRuns } from "./tool-run.js";

startToolRuns();
