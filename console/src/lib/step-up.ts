/** Connects the API client, which learns that verification is needed, with its dialog. */

let ask: (() => Promise<boolean>) | undefined
let asking: Promise<boolean> | undefined

/** Registers the dialog, which resolves with true once the user has verified. */
export function registerStepUp(dialog: () => Promise<boolean>): () => void {
  ask = dialog
  return () => {
    if (ask === dialog) ask = undefined
  }
}

/** Shows the dialog; concurrent calls share one. */
export function askForStepUp(): Promise<boolean> {
  asking ??= (ask?.() ?? Promise.resolve(false)).finally(() => {
    asking = undefined
  })
  return asking
}
