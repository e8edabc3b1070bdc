/** A name on one line of a dense table, truncated if it does not fit. */
import classes from './one-line.module.css'

export function OneLine({ text }: { readonly text: string }) {
  return (
    <span className={classes.text} title={text}>
      {text}
    </span>
  )
}
