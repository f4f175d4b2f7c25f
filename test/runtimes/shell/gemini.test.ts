import { playCommands } from "./play-commands.ts";

playCommands("gemini", "acp");
playCommands("gemini", "cli");
