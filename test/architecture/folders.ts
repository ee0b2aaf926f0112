// The folders of src and web. A part of a folder is a sub-folder or a file beside it. Parts import
// each other in one direction, so that a reader can take them one after the other, and a sub-folder
// says by an entry file of its own name where to begin. How many files a folder has is left to
// judgement. Tests import what they test and are not looked at.
import { circles, connect, type Graph } from './graph.ts'
import type { Finding, Repository, Rule, SourceFile } from './tree.ts'

export const folderRules: Rule[] = [
  {
    name: 'cycle-of-parts',
    promise: 'no sub-folder reaches itself through the files and sub-folders beside it',
    check: partCycles,
  },
  {
    name: 'arrow-up',
    promise: 'no file imports the entry file of a folder above its own',
    check: arrowsUp,
  },
  {
    name: 'folder-entry',
    promise: 'every folder below a module has an entry file that bears its name',
    check: missingEntries,
  },
]

// A circle of modules is reported by cycle-of-modules, one of files alone by cycle-of-files.
function partCycles(repository: Repository): Finding[] {
  const files = readable(repository)
  return foldersOf(files).flatMap((folder) => {
    const graph: Graph = new Map()
    for (const file of files) {
      for (const { target, line } of file.imports) {
        if (target === undefined || isArrowUp(file, target)) continue
        const from = partOf(folder, file.path)
        const to = partOf(folder, target.path)
        if (from === undefined || to === undefined || from === to) continue
        connect(graph, from, to, file, line)
      }
    }
    const subFolders = [...graph.keys()].filter((part) => part.endsWith('/'))
    return circles(graph, 'move what both need into a part of its own', subFolders)
  })
}

function arrowsUp(repository: Repository): Finding[] {
  return readable(repository).flatMap((file) =>
    file.imports
      .filter(({ target }) => target !== undefined && isArrowUp(file, target))
      .map(({ line, target }) => ({
        file: file.path,
        line,
        fix: `${target?.path} builds on this folder; move what both need below it`,
      })),
  )
}

function missingEntries(repository: Repository): Finding[] {
  const files = readable(repository)
  // Folders of src are modules (rule `entry-file`); folders of web itself are collections.
  const below = foldersOf(files).filter((folder) => folder.split('/').length > 2)
  return below
    .filter((folder) => !files.some(({ path }) => isEntry(folder, path)))
    .map((folder) => ({
      file: files.find(({ path }) => path.startsWith(`${folder}/`))?.path ?? folder,
      line: 1,
      fix: `name the file that a reader of ${folder}/ opens first after the folder`,
    }))
}

function readable(repository: Repository): SourceFile[] {
  return repository.files.filter((file) => /^(?:src|web)$/.test(file.folder) && !file.isTest)
}

/** Every folder with source text in it or below it, without src itself. */
function foldersOf(files: readonly SourceFile[]): string[] {
  const folders = new Set(files.flatMap(({ path }) => foldersAbove(path)))
  folders.delete('src')
  return [...folders].sort()
}

/** `a/b/c.ts` has a and a/b above it. */
function foldersAbove(path: string): string[] {
  const names = path.split('/').slice(0, -1)
  return names.map((_, i) => names.slice(0, i + 1).join('/'))
}

/** The part of a folder that a file belongs to, with a slash behind a sub-folder. */
function partOf(folder: string, path: string): string | undefined {
  if (!path.startsWith(`${folder}/`)) return undefined
  const [first = '', ...rest] = path.slice(folder.length + 1).split('/')
  return rest.length === 0 ? path : `${folder}/${first}/`
}

function isArrowUp(file: SourceFile, target: SourceFile): boolean {
  return foldersAbove(file.path)
    .slice(0, -1)
    .some((folder) => isEntry(folder, target.path))
}

/** `refunds/refunds.ts`; in web, where files are components, also `sign-in/SignIn.tsx`. */
function isEntry(folder: string, path: string): boolean {
  const name = folder.split('/').at(-1) ?? ''
  const component = name.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const names = [`${name}.ts`, ...(folder.startsWith('web/') ? [`${component}.tsx`] : [])]
  return names.some((one) => path === `${folder}/${one}`)
}
