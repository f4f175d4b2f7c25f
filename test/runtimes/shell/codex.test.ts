import { playCommands } from "./play-commands.ts";

playCommands("codex", "acp");
playCommands("codex", "cli");
