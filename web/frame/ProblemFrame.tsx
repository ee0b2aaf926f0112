// The frame of a page that has none of its own, because its address is unknown: that of the account
// area for an owner, that of the public pages for a visitor.
import { useQuery } from '@tanstack/react-query'
import { lazyRouteComponent } from '@tanstack/react-router'
import { type ReactNode, Suspense } from 'react'
import { loadChunk } from '../runtime/chunk.ts'
import { meQuery } from '../runtime/queries.ts'
import { useIsFramed } from './framed.tsx'
import { GuestShell } from './GuestFrame.tsx'
import { SiteFrame } from './SiteFrame.tsx'

const OwnerFrame = lazyRouteComponent(
  () => loadChunk(() => import('./OwnerFrame.tsx')),
  'OwnerFrame',
)

export function ProblemFrame({ children }: { readonly children: ReactNode }) {
  const isFramed = useIsFramed()
  const { data: me, isPending, failureCount } = useQuery({ ...meQuery, enabled: !isFramed })
  if (isFramed) return <GuestShell>{children}</GuestShell>
  // Nothing for the moment, so that the frame does not change before the reader's eyes.
  if (isPending && failureCount === 0) return null
  if (me === undefined || me === null) return <SiteFrame>{children}</SiteFrame>
  return (
    <Suspense>
      <OwnerFrame>
        <GuestShell>{children}</GuestShell>
      </OwnerFrame>
    </Suspense>
  )
}
