"""The library through ctypes: proof that a foreign function interface is all that a binding needs."""

import ctypes
import json
import os


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("message", ctypes.c_char * 512)]


class Library:
    def __init__(self, path, program):
        os.environ["TRACKER_BIN"] = str(program)
        self.c = ctypes.CDLL(str(path))
        self.c.trk_free.argtypes = [ctypes.c_void_p]

    def check(self, code, error):
        if code < 0:
            raise OSError(code, error.message.decode())

    def load(self, path):
        tracker, error = ctypes.c_void_p(), Error()
        self.check(self.c.trk_tracker_load(str(path).encode(), ctypes.byref(tracker), ctypes.byref(error)), error)
        return tracker

    def text(self, function, *arguments):
        text, error = ctypes.c_void_p(), Error()
        self.check(function(*arguments, ctypes.byref(text), ctypes.byref(error)), error)
        value = ctypes.string_at(text).decode()
        self.c.trk_free(text)
        return json.loads(value)

    def stats(self, tracker):
        return self.text(self.c.trk_tracker_stats_json, tracker, None, ctypes.c_size_t(0))

    def snapshot(self, tracker):
        return self.text(self.c.trk_tracker_snapshot, tracker)

    def save(self, tracker, path):
        error = Error()
        self.check(self.c.trk_tracker_save(tracker, str(path).encode(), ctypes.byref(error)), error)

    def n_samples(self, tracker):
        self.c.trk_tracker_n_samples.restype = ctypes.c_uint64
        return self.c.trk_tracker_n_samples(tracker)

    def new(self, interval, children=True):
        """As trk_tracker_options_init fills them, with another interval."""
        options, tracker, error = ctypes.create_string_buffer(128), ctypes.c_void_p(), Error()
        self.c.trk_tracker_options_init(options, ctypes.c_size_t(len(options)))
        ctypes.c_double.from_buffer(options, 16).value = interval
        ctypes.c_bool.from_buffer(options, 12).value = children
        self.check(self.c.trk_tracker_new(options, ctypes.byref(tracker), ctypes.byref(error)), error)
        return tracker

    def wait(self, tracker, n):
        error = Error()
        self.check(self.c.trk_tracker_wait_for_samples(tracker, ctypes.c_uint64(n), ctypes.c_double(10),
                                                       ctypes.byref(error)), error)

    def stop(self, tracker):
        error = Error()
        self.check(self.c.trk_tracker_stop(tracker, ctypes.byref(error)), error)

    def free(self, tracker):
        self.c.trk_tracker_free(tracker)
