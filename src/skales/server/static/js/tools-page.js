// The tools page, fetched there only.

import { startApprovals } from "./approvals.js";
import { startToolRuns } from "./tool-run.js";

startApprovals();
startToolRuns();
