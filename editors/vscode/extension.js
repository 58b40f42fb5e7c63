// Starts `fclc lsp` for FCL's documents.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const server = { command: workspace.getConfiguration("fcl").get("fclc"), args: ["lsp"] };
  client = new LanguageClient("fcl", "FCL", server, { documentSelector: [{ language: "fcl" }] });
  return client.start();
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
