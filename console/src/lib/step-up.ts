/** Connects the API client, which learns that verification is needed, with its dialog. */

type ShowDialog = () => Promise<boolean>

/** Resolves once the dialog can be shown: its files load after the page. */
let dialog = Promise.withResolvers<ShowDialog>()
let pending: Promise<boolean> | undefined

/** Registers the dialog, which resolves with true once the user has verified. */
export function registerStepUp(show: ShowDialog): () => void {
  dialog.resolve(show)
  return () => {
    dialog = Promise.withResolvers()
  }
}

/** Shows the dialog, as soon as it is loaded; concurrent calls share one. */
export function askForStepUp(): Promise<boolean> {
  pending ??= dialog.promise
    .then((show) => show())
    .finally(() => {
      pending = undefined
    })
  return pending
}
