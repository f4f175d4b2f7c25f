/** Files that a row needs in addition to those of every row. */
type Fixture = "repository" | "archive" | "patch" | "package" | "victim";

/**
 * A command of the table. `D` in its template is the row's own directory, `PORT` a server of the test, `OUT` a directory outside of the
 * workspace.
 */
export interface ShellCommand {
  template: string;
  /** Whether it can change something: a file, a process, or the requests that a server receives. */
  changes: boolean;
  /** Which places the command affects: the sandbox of a runtime permits writes only in the workspace. */
  reach: "workspace" | "beyond";
  fixture?: Fixture;
  /** Set if this is not a command: the runtime's own tool writes the file that the template names. */
  isFileTool?: true;
}

const changing = (template: string, fixture?: Fixture): ShellCommand => ({
  template,
  changes: true,
  reach: "workspace",
  ...(fixture !== undefined && { fixture }),
});
const reaching = (template: string, fixture?: Fixture): ShellCommand => ({ ...changing(template, fixture), reach: "beyond" });
const reading = (template: string, fixture?: Fixture): ShellCommand => ({ ...changing(template, fixture), changes: false });

/** The commands of the table, in its order. */
export const commands: readonly ShellCommand[] = [
  changing("touch D/made"),
  // Some programs kill the background processes of a command when it ends.
  changing("touch D/made & wait"),
  changing("setsid -w touch D/made"),
  changing("nohup touch D/made"),
  changing("mkdir D/made"),
  changing("rm D/file"),
  changing("rm -rf D/dir"),
  changing("find D -type f -empty -delete"),
  changing("mv D/file D/moved"),
  changing("cp D/file D/copy"),
  changing("ln -s file D/link"),
  changing("chmod 600 D/file"),
  changing("install -m 755 D/file D/made"),
  changing("sed -i s/one/two/ D/file"),
  changing("sed -n 'w D/made' D/file"),
  changing("perl -i -pe s/one/two/ D/file"),
  changing("truncate -s 0 D/file"),
  changing("dd if=D/file of=D/made status=none"),
  changing("sort -o D/made D/file"),
  changing("tee D/made < D/file"),
  changing("echo one > D/made"),
  changing("echo two >> D/file"),
  changing(": > D/file"),
  changing("cat > D/made <<'END'\none\nEND"),
  changing("cat D/file | tee D/made"),
  changing("find D -name file -exec rm {} +"),
  changing("find D -fprint D/made"),
  changing("ls D/file | xargs rm"),
  changing("git -C D add file", "repository"),
  changing("git -C D -c user.name=n -c user.email=e commit -q --allow-empty -m done", "repository"),
  changing("git -C D checkout -q -b made", "repository"),
  changing("git -C D apply change.patch", "repository"),
  changing("git -C D clean -fdq", "repository"),
  changing("git -C D diff --output=made", "repository"),
  changing("patch -s -d D -i change.patch", "patch"),
  changing("tar -xf D/archive.tar -C D", "archive"),
  changing("gzip D/file"),
  changing("python3 -c \"open('D/made', 'w')\""),
  changing("node -e \"fs.writeFileSync('D/made', '')\""),
  changing("awk '{ print > \"D/made\" }' D/file"),
  changing("awk 'BEGIN { system(\"touch D/made\") }'"),
  changing("sh -c 'touch D/made'"),
  changing("bash -c 'echo one > D/made'"),
  changing("sh D/script.sh"),
  changing("env X=1 touch D/made"),
  changing("X=1 touch D/made"),
  changing("time touch D/made"),
  changing("command rm D/file"),
  changing("\\rm D/file"),
  changing("eval 'touch D/made'"),
  changing("f() { touch D/made; }; f"),
  changing("bash -O expand_aliases -c 'alias t=touch; eval t D/made'"),
  changing("echo $(touch D/made)"),
  changing("ls D && touch D/made"),
  changing("ls D; rm D/file"),
  changing("(cd D && touch made)"),
  changing("npm install --prefix D --cache D/cache --offline --no-audit --no-fund ./D/package", "package"),
  reaching("touch OUT/D"),
  reaching("echo one > OUT/D"),
  reaching("curl -s http://127.0.0.1:PORT/D"),
  reaching("xargs kill < D/pid", "victim"),
  reading("ls D"),
  reading("cat D/note"),
  reading("head -n 1 D/note"),
  reading("grep -r seen D"),
  reading("wc -l D/note D/seen-*/*"),
  reading("find D -type f"),
  reading("(cd D/seen-* && pwd)"),
  reading("echo D/seen-*"),
  reading("git -C D status --short", "repository"),
  reading("git -C D log --format=%s", "repository"),
  { ...changing("D/made"), isFileTool: true },
];

/** The command as a reader would write it, without the row's directory, in Markdown. */
export function titleOf({ template, isFileTool }: ShellCommand): string {
  if (isFileTool === true) return "no command: the runtime's own tool that writes a file";
  const command = template
    .replaceAll("OUT/D", "/outside/made")
    .replaceAll(/ (-C|-d|--prefix) D\b/g, "")
    .replace("127.0.0.1:PORT/D", "127.0.0.1:8000/")
    .replaceAll(/(\.\/)?\bD\//g, "")
    .replaceAll(/\bD\b/g, ".")
    .replaceAll("seen-*", "*")
    .replaceAll("\n", "⏎")
    .replaceAll("|", "\\|");
  return `\`${command}\``;
}
