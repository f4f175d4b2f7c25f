import { playCommands } from "./play-commands.ts";

playCommands("any-agent", "acp");
