/** Code to paste into a terminal or a file. */
import { Box, ScrollArea } from '@mantine/core'
import classes from './code-snippet.module.css'
import { CopyButton } from './copy-button.tsx'

export function CodeSnippet({ code }: { readonly code: string }) {
  return (
    <Box className={classes.box}>
      <ScrollArea type="auto">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
        <pre className={classes.code} tabIndex={0}>
          <code>{code}</code>
        </pre>
      </ScrollArea>
      <div className={classes.copy}>
        <CopyButton value={code} />
      </div>
    </Box>
  )
}
