"""The kernels that operators of several libraries are tested with."""

SOURCE = """
type body = { pos : float, mass : float }
kernel axpy (a : float) (xs : [float]) (ys : [float]) = zipWith (fn x y => a * x + y) xs ys
kernel positive (xs : [float]) = filter (fn x => x > 0.0) xs
kernel total (xs : [float]) = reduce (+) 0.0 xs
kernel turned (m : [[float]]) = generate (columns m) (fn j => map (fn row => row ! j) m)
kernel both (ps : [(int, float)]) (p : (int, bool)) =
  let (k, flag) = p in (push <grid> (map fst ps), if flag then reduce (+) 0.0 (map snd ps) else 0.0, k + 1)
kernel heavier (b : body) (bs : [body]) = push <grid> (map (fn c => { c with mass = c.mass + b.mass }) bs)
kernel windows (k : int) (xs : [float]) = generate (max 0 (length xs - k + 1)) (fn i => xs ! i + xs ! (i + k - 1))
"""
