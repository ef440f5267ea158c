// Starts what the page has. Each module finds its own elements and does nothing when they are not there.

import { startApprovals } from "./approvals.js";
import { startComposer } from "./composer.js";
import { startCopying } from "./copying.js";
import { startDrawer } from "./drawer.js";
import { startFeedback } from "./feedback.js";
import { startLive } from "./live.js";
import { startSessions } from "./sessions.js";
import { startSettings } from "./settings.js";
import { startShortcuts } from "./shortcuts.js";
import { startStarter } from "./starter.js";
import { startTranscript } from "./transcript.js";

startFeedback();
startDrawer();
startSessions();
startCopying();
startShortcuts();
startSettings();
startStarter();
const transcript = startTranscript();
if (transcript) {
  startApprovals();
  const live = startLive(transcript);
  startComposer(transcript, live);
}
