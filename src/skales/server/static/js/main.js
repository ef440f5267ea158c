// Starts what every page may have. Each module finds its own elements and does nothing when they are not there.
// What one screen alone needs is in a script of its own, which its template names.

import { startApprovals } from "./approvals.js";
import { startBlocks } from "./blocks.js";
import { startConnection } from "./connection.js";
import { startComposer } from "./composer.js";
import { startCopying } from "./copying.js";
import { startDrawer } from "./drawer.js";
import { startFeedback } from "./feedback.js";
import { startLive } from "./live.js";
import { startMenus } from "./menus.js";
import { startMessages } from "./messages.js";
import { startRail } from "./rail.js";
import { startSessions } from "./sessions.js";
import { startShortcuts } from "./shortcuts.js";
import { startStarter } from "./starter.js";
import { startTranscript } from "./transcript.js";
import { startTray } from "./tray.js";
import { startVersions } from "./versions.js";
import { startFind, startFinder } from "./wanted.js";

startFeedback();
startDrawer();
startRail();
startMenus();
startConnection(startTray());
startSessions();
startBlocks();
startCopying();
startFinder();
startShortcuts();
startStarter();
const transcript = startTranscript();
if (transcript) {
  startApprovals();
  const live = startLive(transcript);
  startComposer(transcript, live);
  startMessages(transcript, live);
  startVersions(transcript, live);
  startFind(transcript);
}
