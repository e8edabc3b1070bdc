/** A name on one line of a dense table, cut short where there is no room for all of it. */
import classes from './one-line.module.css'

export function OneLine({ text }: { readonly text: string }) {
  return (
    <span className={classes.text} title={text}>
      {text}
    </span>
  )
}
