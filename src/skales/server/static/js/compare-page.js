// The comparison of models, fetched on its page only.

import { startCompare } from "./compare.js";

startCompare();
