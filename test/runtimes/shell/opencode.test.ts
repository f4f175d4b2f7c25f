import { playCommands } from "./play-commands.ts";

playCommands("opencode", "http-api");
playCommands("opencode", "cli");
