/** Between the API client, which learns that a proof is needed, and the dialog that asks for it. */

let ask: (() => Promise<boolean>) | undefined
let asking: Promise<boolean> | undefined

/** The dialog names itself here; it answers whether the user has proved who they are. */
export function registerStepUp(dialog: () => Promise<boolean>): () => void {
  ask = dialog
  return () => {
    if (ask === dialog) ask = undefined
  }
}

/** Calls that need it at the same time share one dialog. */
export function askForStepUp(): Promise<boolean> {
  asking ??= (ask?.() ?? Promise.resolve(false)).finally(() => {
    asking = undefined
  })
  return asking
}
