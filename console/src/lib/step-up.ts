/** Connects the API client, which learns that verification is needed, with its dialog. */

let showDialog: (() => Promise<boolean>) | undefined
let pending: Promise<boolean> | undefined

/** Registers the dialog, which resolves with true once the user has verified. */
export function registerStepUp(dialog: () => Promise<boolean>): () => void {
  showDialog = dialog
  return () => {
    if (showDialog === dialog) showDialog = undefined
  }
}

/** Shows the dialog; concurrent calls share one. */
export function askForStepUp(): Promise<boolean> {
  pending ??= (showDialog?.() ?? Promise.resolve(false)).finally(() => {
    pending = undefined
  })
  return pending
}
