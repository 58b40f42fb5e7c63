'use strict';
// The compiler in a worker: one call of the command `fclc`, with files that are in memory. What WASI has beyond that
// says ENOSYS.

// This function is all of the worker: pages that are read from a disk may load no other file as one.
function fclcWorker(scope) {
  const ESUCCESS = 0, EBADF = 8, EINVAL = 28, ENOENT = 44, ENOSYS = 52, ENOTDIR = 54, EROFS = 69;
  const DIRECTORY = 3, REGULAR = 4, CHARACTER = 2;

  // Runs it. `files` is an object of names, from the root, to texts.
  async function run(module, files, words) {
    const utf8 = new TextEncoder(), contents = new Map(), folders = new Map([['', new Set()]]);
    for (const [path, text] of Object.entries(files)) {
      contents.set(path, typeof text === 'string' ? utf8.encode(text) : text);
      const parts = path.split('/');
      for (let i = 0; i < parts.length; i++) {
        const folder = parts.slice(0, i).join('/');
        if (!folders.has(folder)) folders.set(folder, new Set());
        folders.get(folder).add(parts[i]);
      }
    }
    const written = { 1: [], 2: [] };
    const opened = new Map([[3, { path: '', at: 0 }]]); // descriptors from 3 on; 3 is the root
    let instance, next = 4;
    const view = () => new DataView(instance.exports.memory.buffer);
    const bytes = (at, length) => new Uint8Array(instance.exports.memory.buffer, at, length);
    const text = (at, length) => new TextDecoder().decode(bytes(at, length));
    const is_folder = (path) => folders.has(path);
    // A path below a folder, without dots.
    const resolved = (fd, at, length) => {
      const parts = [];
      for (const part of (opened.get(fd).path + '/' + text(at, length)).split('/'))
        if (part === '..') parts.pop();
        else if (part && part !== '.') parts.push(part);
      return parts.join('/');
    };
    const put_stat = (at, path) => {
      bytes(at, 64).fill(0);
      view().setBigUint64(at + 8, BigInt(number_of(path)), true);
      view().setUint8(at + 16, is_folder(path) ? DIRECTORY : REGULAR);
      view().setBigUint64(at + 24, 1n, true);
      view().setBigUint64(at + 32, BigInt(contents.get(path)?.length ?? 0), true);
    };
    const numbers = new Map();
    const number_of = (path) => {
      if (!numbers.has(path)) numbers.set(path, numbers.size + 1);
      return numbers.get(path);
    };
    // A list of strings as C has them.
    const sizes = (list, count, total) => {
      view().setUint32(count, list.length, true);
      view().setUint32(total, list.reduce((sum, one) => sum + utf8.encode(one).length + 1, 0), true);
      return ESUCCESS;
    };
    const strings = (list, pointers, at) => {
      for (const one of list) {
        const encoded = utf8.encode(one + '\0');
        view().setUint32(pointers, at, true);
        bytes(at, encoded.length).set(encoded);
        pointers += 4;
        at += encoded.length;
      }
      return ESUCCESS;
    };
    // Calls `each` with every part of an array of buffers, until one is not filled; stores how many bytes there were.
    const parts = (at, count, result, each) => {
      let total = 0;
      for (let i = 0; i < count; i++) {
        const length = view().getUint32(at + 8 * i + 4, true);
        const done = each(view().getUint32(at + 8 * i, true), length);
        total += done;
        if (done < length) break;
      }
      view().setUint32(result, total, true);
      return ESUCCESS;
    };
    const environment = ['NO_COLOR=1', 'PWD=/'];
    const wasi = {
      args_sizes_get: (count, total) => sizes(words, count, total),
      args_get: (pointers, at) => strings(words, pointers, at),
      environ_sizes_get: (count, total) => sizes(environment, count, total),
      environ_get: (pointers, at) => strings(environment, pointers, at),
      clock_time_get: (id, precision, at) => {
        view().setBigUint64(at, BigInt(Math.round((id === 0 ? Date.now() : performance.now()) * 1e6)), true);
        return ESUCCESS;
      },
      random_get: (at, length) => (crypto.getRandomValues(bytes(at, length)), ESUCCESS),
      proc_exit: (status) => { throw { status }; },
      fd_prestat_get: (fd, at) => {
        if (fd !== 3) return EBADF;
        view().setUint32(at, 0, true);
        view().setUint32(at + 4, 1, true);
        return ESUCCESS;
      },
      fd_prestat_dir_name: (fd, at) => (bytes(at, 1).set(utf8.encode('/')), ESUCCESS),
      fd_fdstat_get: (fd, at) => {
        if (fd > 2 && !opened.has(fd)) return EBADF;
        bytes(at, 24).fill(0);
        view().setUint8(at, fd <= 2 ? CHARACTER : is_folder(opened.get(fd).path) ? DIRECTORY : REGULAR);
        view().setBigUint64(at + 8, ~0n, true);
        view().setBigUint64(at + 16, ~0n, true);
        return ESUCCESS;
      },
      fd_filestat_get: (fd, at) => {
        if (fd <= 2) return bytes(at, 64).fill(0), view().setUint8(at + 16, CHARACTER), ESUCCESS;
        if (!opened.has(fd)) return EBADF;
        put_stat(at, opened.get(fd).path);
        return ESUCCESS;
      },
      path_filestat_get: (fd, flags, path, length, at) => {
        const found = resolved(fd, path, length);
        if (!contents.has(found) && !is_folder(found)) return ENOENT;
        put_stat(at, found);
        return ESUCCESS;
      },
      path_open: (fd, flags, path, length, how, rights, inherited, more, result) => {
        const found = resolved(fd, path, length), CREATE = 1, FOLDER = 2;
        if (!contents.has(found) && !is_folder(found)) return how & CREATE ? EROFS : ENOENT;
        if (how & FOLDER && !is_folder(found)) return ENOTDIR;
        opened.set(next, { path: found, at: 0 });
        view().setUint32(result, next++, true);
        return ESUCCESS;
      },
      // The program's own place, beside which it finds the prelude.
      path_readlink: (fd, path, length, at, room, result) => {
        if (resolved(fd, path, length) !== 'proc/self/exe') return EINVAL;
        const place = utf8.encode('/fcl/bin/fclc').subarray(0, room);
        bytes(at, place.length).set(place);
        view().setUint32(result, place.length, true);
        return ESUCCESS;
      },
      fd_readdir: (fd, at, room, cookie, result) => {
        const names = [...folders.get(opened.get(fd).path)].sort(), folder = opened.get(fd).path;
        let used = 0;
        for (let i = Number(cookie); i < names.length && used < room; i++) {
          const name = utf8.encode(names[i]), path = folder ? folder + '/' + names[i] : names[i];
          const entry = new Uint8Array(24 + name.length), header = new DataView(entry.buffer);
          header.setBigUint64(0, BigInt(i + 1), true);
          header.setBigUint64(8, BigInt(number_of(path)), true);
          header.setUint32(16, name.length, true);
          header.setUint8(20, is_folder(path) ? DIRECTORY : REGULAR);
          entry.set(name, 24);
          const fits = entry.subarray(0, room - used);
          bytes(at + used, fits.length).set(fits);
          used += fits.length;
        }
        view().setUint32(result, used, true);
        return ESUCCESS;
      },
      fd_close: (fd) => (opened.delete(fd) || fd <= 2 ? ESUCCESS : EBADF),
      fd_seek: (fd, offset, whence, result) => {
        const file = opened.get(fd);
        if (!file) return EBADF;
        const from = [0, file.at, contents.get(file.path)?.length ?? 0][whence];
        if (from + Number(offset) < 0) return EINVAL;
        file.at = from + Number(offset);
        view().setBigUint64(result, BigInt(file.at), true);
        return ESUCCESS;
      },
      fd_read: (fd, at, count, result) => {
        const file = opened.get(fd);
        return parts(at, count, result, (to, length) => {
          const piece = file ? contents.get(file.path).subarray(file.at, file.at + length) : [];
          bytes(to, piece.length).set(piece);
          if (file) file.at += piece.length;
          return piece.length;
        });
      },
      fd_write: (fd, at, count, result) => {
        if (!written[fd]) return EBADF;
        return parts(at, count, result, (from, length) => (written[fd].push(bytes(from, length).slice()), length));
      },
    };
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module))
      (imports[from] ??= {})[name] = wasi[name] ?? (() => ENOSYS);
    instance = await WebAssembly.instantiate(module, imports);
    let status = 0, said = '';
    try {
      instance.exports._start();
    } catch (error) {
      if (error && error.status !== undefined) status = error.status;
      else {
        status = 4;
        said = error instanceof RangeError ? 'this program is too deep for the stack that a browser gives' : `${error}`;
      }
    }
    const joined = (pieces) => {
      const all = new Uint8Array(pieces.reduce((sum, one) => sum + one.length, 0));
      let at = 0;
      for (const piece of pieces) all.set(piece, at), (at += piece.length);
      return new TextDecoder().decode(all);
    };
    return { status, out: joined(written[1]), err: joined(written[2]) + said };
  }

  scope.onmessage = async ({ data: { module, files, words } }) => {
    let result;
    try {
      result = await run(module, files, ['fclc', ...words]);
    } catch (error) {
      result = { status: 4, out: '', err: `${error}` };
    }
    scope.postMessage(result);
  };
}
