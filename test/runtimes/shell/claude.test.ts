import { playCommands } from "./play-commands.ts";

playCommands("claude", "acp");
playCommands("claude", "cli");
