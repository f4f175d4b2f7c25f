import { playCommands } from "./play-commands.ts";

playCommands("claude-agent-sdk", "in-process");
