/** One figure with its name; a link if a page shows its source. */
import { Box, Text, Tooltip } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import classes from './stat-tile.module.css'

interface StatTileProps {
  readonly label: string
  readonly value: ReactNode
  readonly note?: ReactNode
  /** Explanation of the figure, shown on hover. */
  readonly hint?: string
  /** Link to the source of the figure. */
  readonly to?: string
  readonly search?: Readonly<Record<string, string>>
}

export function StatTile({ label, value, note, hint, to, search }: StatTileProps) {
  const content = (
    <>
      <Text size="xs" c="dimmed" component="span" className={classes.label}>
        {label}
      </Text>
      <Text fz={22} fw={600} lh={1.3} component="div">
        {value}
      </Text>
      {note ? (
        <Text size="xs" c="dimmed" component="div">
          {note}
        </Text>
      ) : null}
    </>
  )
  const tile = to ? (
    <Link to={to} search={search ?? {}} className={classes.tile} data-link>
      {content}
    </Link>
  ) : (
    <Box className={classes.tile}>{content}</Box>
  )
  if (!hint) return tile
  return (
    <Tooltip label={hint} multiline maw={280}>
      {tile}
    </Tooltip>
  )
}

/** Lays tiles out in as many columns as fit. */
export function StatTiles({ children }: { readonly children: ReactNode }) {
  return <div className={classes.tiles}>{children}</div>
}
