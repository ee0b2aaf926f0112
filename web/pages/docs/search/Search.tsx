// The button that opens the search of the documentation, also by "/" and Ctrl K. The dialog, the
// search itself and the index are loaded when it is first opened.
import { Search as Icon } from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useBrowserFact } from '../../../runtime/browser-fact.ts'
import { loadChunk } from '../../../runtime/chunk.ts'
import { classes } from '../../../ui/classes.ts'

const loadDialog = () => loadChunk(() => import('./SearchDialog.tsx'))
const SearchDialog = lazy(async () => ({ default: (await loadDialog()).SearchDialog }))

export function Search() {
  const { t } = useTranslation()
  // Without scripts it would do nothing: the page that the server renders keeps its place free.
  const isAlive = useBrowserFact(() => true, false)
  const [isOpen, setOpen] = useState(false)
  const [wasOpened, setOpened] = useState(false)
  useEffect(() => {
    if (isOpen) setOpened(true)
  }, [isOpen])
  useEffect(() => {
    const openByKey = (event: KeyboardEvent) => {
      if (!isSearchKey(event)) return
      event.preventDefault()
      setOpen(true)
    }
    window.addEventListener('keydown', openByKey)
    return () => window.removeEventListener('keydown', openByKey)
  }, [])
  return (
    <>
      <button
        type="button"
        onClick={() => setOpen(true)}
        onPointerEnter={() => void loadDialog().catch(() => undefined)}
        aria-label={t('docs.search')}
        aria-keyshortcuts="/ Control+K"
        className={classes(
          'flex min-h-11 w-full items-center gap-2.5 rounded-part border border-edge ' +
            'bg-sheet px-3 text-start text-soft hover:border-ink hover:text-ink',
          !isAlive && 'invisible',
        )}
      >
        <Icon aria-hidden className="size-4 shrink-0" />
        <span className="me-auto">{t('docs.searchShort')}</span>
        <kbd
          aria-hidden
          className="rounded-xs border border-line bg-sunk px-1.5 text-xs max-lg:hidden"
        >
          /
        </kbd>
      </button>
      {(isOpen || wasOpened) && (
        <Suspense>
          <SearchDialog isOpen={isOpen} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}

function isSearchKey({ key, ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean {
  if ((ctrlKey || metaKey) && key.toLowerCase() === 'k') return true
  const isTyping = target instanceof Element && target.matches('input, textarea, select')
  return key === '/' && !ctrlKey && !metaKey && !altKey && !isTyping
}
