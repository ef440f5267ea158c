// The activity page, fetched there only: questions that belong to no conversation are answered on it.

import { startApprovals } from "./approvals.js";

startApprovals();
